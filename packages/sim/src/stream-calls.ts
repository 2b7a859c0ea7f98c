// Streams, events, captures and graphs of the simulated driver.
import { Capture, ExecutableGraph, SimulatedGraph } from "./graph.js";
import { code, Refusal } from "./refusal.js";
import type { Calls, Simulator } from "./simulator.js";
import { type Ticket, WorkStream } from "./stream.js";

/** CU_EVENT_DISABLE_TIMING, cuda.h. */
const disableTiming = 2;

/** A point in a stream's work, or in a capture's. */
export class SimulatedEvent {
  readonly timing: boolean;
  ticket: Ticket | undefined;
  /** The capture that it was recorded in instead. */
  captured: { readonly capture: Capture; readonly stream: WorkStream; readonly upTo: number } | undefined;

  constructor(timing: boolean) {
    this.timing = timing;
  }
}

/** @throws Refusal if the stream is captured: waiting spoils the capture. */
function refuseInCapture(stream: WorkStream): void {
  if (stream.capture === undefined) return;
  stream.capture.spoiled ??= new Refusal(code.streamCaptureInvalidated, "the stream was waited for or looked at during its capture");
  throw new Refusal(code.streamCaptureUnsupported);
}

/** Whether a ticket is done after a turn of its stream, or was ended by a fault. */
function cameBy(ticket: Ticket): boolean {
  if (!passed(ticket)) ticket.stream.step();
  return passed(ticket) || ticket.stream.idle;
}

const passed = ({ stream, number }: Ticket) => stream.passed(number);

/** Whether work before a ticket has run. Each check runs a step, so polling ends. */
function look(ticket: Ticket): number {
  if (passed(ticket)) return code.success;
  ticket.stream.step();
  return ticket.stream.context.fault?.status ?? code.notReady;
}

export function streamCalls(simulator: Simulator) {
  const { host } = simulator;
  return {
    cuStreamCreateWithPriority: (out) => {
      const stream = new WorkStream(simulator.here);
      simulator.here.streams.add(stream);
      host.giveLong(out, simulator.enter(stream));
    },
    cuStreamDestroy: (handle) => {
      const stream = simulator.leave(handle, WorkStream);
      if (stream.capture)
        stream.capture.spoiled ??= new Refusal(code.streamCaptureInvalidated, "a stream was destroyed during its capture");
      // Its work goes on.
      stream.destroyed = true;
      stream.context.goOn();
    },
    cuStreamSynchronize: (handle) => {
      const stream = simulator.stream(handle);
      refuseInCapture(stream);
      stream.drain();
      return stream.context.fault?.status;
    },
    cuStreamQuery: (handle) => {
      const stream = simulator.stream(handle);
      refuseInCapture(stream);
      return look({ stream, number: stream.given, time: undefined });
    },
    cuStreamWaitEvent: (handle, eventHandle) => {
      const stream = simulator.stream(handle);
      const { ticket, captured } = simulator.find(eventHandle, SimulatedEvent);
      if (captured) {
        captured.capture.take(stream);
        if (stream !== captured.stream) captured.capture.join(captured.stream, captured.upTo);
        return;
      }
      if (stream.capture) {
        stream.capture.spoiled ??= new Refusal(
          code.streamCaptureInvalidated,
          "a captured stream waited for an event of work that is not captured",
        );
        throw new Refusal(code.streamCaptureIsolation);
      }
      if (ticket) simulator.give(stream, "wait", () => ({ advance: () => cameBy(ticket) }));
    },
    cuStreamBeginCapture: (handle) => {
      const stream = simulator.stream(handle);
      if (stream === stream.context.legacy) throw new Refusal(code.streamCaptureUnsupported, "the legacy stream cannot be captured");
      if (stream.capture) throw new Refusal(code.illegalState, "the stream is being captured already");
      stream.capture = new Capture(stream);
      stream.captured = 0;
    },
    cuStreamEndCapture: (handle, out) => {
      const stream = simulator.stream(handle);
      host.giveLong(out, 0n);
      if (stream.capture === undefined) throw new Refusal(code.illegalState, "the stream is not being captured");
      if (stream.capture.origin !== stream) throw new Refusal(code.streamCaptureUnmatched, "the capture was begun by another stream");
      host.giveLong(out, simulator.enter(new SimulatedGraph(stream.capture.end())));
    },
  } satisfies Partial<Calls>;
}

export function eventCalls(simulator: Simulator) {
  const { host, machine } = simulator;
  const event = (handle: bigint) => simulator.find(handle, SimulatedEvent);
  return {
    cuEventCreate: (out, flags) => host.giveLong(out, simulator.enter(new SimulatedEvent((flags & disableTiming) === 0))),
    cuEventDestroy: (handle) => {
      simulator.leave(handle, SimulatedEvent);
    },
    cuEventRecord: (handle, streamHandle) => {
      const recorded = event(handle);
      const stream = simulator.stream(streamHandle);
      if (stream.capture) {
        recorded.captured = { capture: stream.capture, stream, upTo: stream.captured };
        return;
      }
      recorded.captured = undefined;
      const ticket: Ticket = { stream, number: stream.given + 1, time: undefined };
      recorded.ticket = ticket;
      simulator.give(stream, "record", () => {
        ticket.time = machine.time;
      });
    },
    cuEventQuery: (handle) => {
      const { ticket, captured } = event(handle);
      if (captured) throw new Refusal(code.capturedEvent);
      return ticket ? look(ticket) : code.success;
    },
    cuEventSynchronize: (handle) => {
      const { ticket, captured } = event(handle);
      if (captured) throw new Refusal(code.capturedEvent);
      ticket?.stream.drain(ticket.number);
      return ticket?.stream.context.fault?.status;
    },
    cuEventElapsedTime: (out, startHandle, endHandle) => {
      const [start, end] = [event(startHandle), event(endHandle)];
      if (!start.timing || !end.timing) throw new Refusal(code.invalidHandle, "an event was made without timing");
      if (!start.ticket || !end.ticket) throw new Refusal(code.invalidHandle, "an event was never recorded");
      if (start.ticket.time === undefined || end.ticket.time === undefined) return code.notReady;
      host.giveFloat(out, (end.ticket.time - start.ticket.time) / 1e6);
      return code.success;
    },
  } satisfies Partial<Calls>;
}

export function graphCalls(simulator: Simulator) {
  const { host } = simulator;
  return {
    cuGraphInstantiate: (out, handle) =>
      host.giveLong(out, simulator.enter(new ExecutableGraph(simulator.find(handle, SimulatedGraph).works))),
    cuGraphGetNodes: (handle, nodes, count) => {
      if (nodes !== 0n) throw new Refusal(code.notSupported, "the nodes of a graph are counted, not listed");
      host.giveLong(count, simulator.find(handle, SimulatedGraph).works.length);
    },
    cuGraphUpload: (handle, streamHandle) => {
      simulator.find(handle, ExecutableGraph);
      simulator.stream(streamHandle);
    },
    cuGraphLaunch: (handle, streamHandle) => {
      const { works } = simulator.find(handle, ExecutableGraph);
      const stream = simulator.stream(streamHandle);
      if (stream.capture) throw new Refusal(code.notSupported, "a graph within a graph is not simulated");
      for (const work of works) simulator.give(stream, work.kind, () => work.run());
    },
    cuGraphExecUpdate: (handle, graphHandle, result) => {
      const outcome = simulator.find(handle, ExecutableGraph).update(simulator.find(graphHandle, SimulatedGraph));
      host.giveWord(result, outcome);
      return outcome === 0 ? code.success : code.graphExecUpdateFailure;
    },
    cuGraphExecDestroy: (handle) => {
      simulator.leave(handle, ExecutableGraph);
    },
    cuGraphDestroy: (handle) => {
      simulator.leave(handle, SimulatedGraph);
    },
  } satisfies Partial<Calls>;
}
