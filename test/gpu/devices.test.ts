// Opening several devices by one name.
import { describe, expect, it } from "vitest";
import { deviceName } from "../../packages/core/src/device-name.js";
import { openDevice, openDevices } from "../../packages/gpu/src/index.js";
import { FakeDriver } from "./fake-driver.js";

describe("a name of devices", () => {
  it.each([
    ["cuda", { family: "cuda", devices: undefined }],
    ["cuda:1", { family: "cuda", devices: [1] }],
    ["cuda:0-3", { family: "cuda", devices: [0, 1, 2, 3] }],
    ["sim:2,0", { family: "sim", devices: [2, 0] }],
    ["sim:all", { family: "sim", devices: "all" }],
    ["cuda:3-1", undefined],
    ["cuda:0,0", undefined],
    ["cuda:", undefined],
    ["cuda:0-99999", undefined],
    ["cuda:fast", undefined],
  ])("%s", (name, expected) => expect(deviceName(name)).toEqual(expected));
});

describe("several devices", () => {
  const ordinals = (devices?: string | readonly number[]) => {
    const contexts = openDevices(devices, { driver: new FakeDriver({ devices: 4 }), onLeak: () => undefined });
    for (const context of contexts) context.dispose();
    return contexts.map(({ info }) => info.ordinal);
  };

  it("are opened in the order named, all of them if none is", () => {
    expect([ordinals(), ordinals("1-2"), ordinals("cuda:3,0"), ordinals([2]), ordinals("sim:all")]).toEqual([
      [0, 1, 2, 3],
      [1, 2],
      [3, 0],
      [2],
      [0, 1, 2, 3],
    ]);
  });

  it("are all given back if one does not open", () => {
    const driver = new FakeDriver({ devices: 2 });
    expect(() => openDevices("0-2", { driver })).toThrow("there is no device 2: CUDA shows 2 devices, numbered from 0");
    expect(driver.outstanding()).toEqual({});
  });

  it("are not named by what names none, and are not opened as one", () => {
    const driver = new FakeDriver({ devices: 2 });
    expect(() => openDevices("0-")).toThrow('devices is "0-"; it takes "all", numbers such as "0-3" or [0, 2], or a name such as');
    expect(() => openDevices([0, 0])).toThrow("devices is");
    expect(() => openDevice({ driver, device: "cuda:0-1" })).toThrow("which names several; openDevices opens them");
  });
});
