// WebGPU for tests, on machines without a GPU.

/** What gives a Chromium WebGPU on a machine without a GPU: SwiftShader, by Vulkan. */
export const softwareWebGpu: readonly string[] = [
  "--enable-unsafe-webgpu",
  "--enable-features=Vulkan",
  "--use-vulkan=swiftshader",
  "--use-webgpu-adapter=swiftshader",
  "--disable-vulkan-surface",
];
