// A thread that ends its process when the process that started it is gone, also while the main
// thread computes.
import { workerData } from "node:worker_threads";

setInterval(() => {
  if (process.ppid !== workerData) process.kill(process.pid, "SIGKILL");
}, 500);
