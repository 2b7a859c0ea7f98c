// A Node-RED node: msg.payload is a number, a list of numbers, or an object with a field for each
// column. Output 1 gets every message with msg.anomaly, output 2 those that raise an alarm. The
// state is kept in the node's context, so that a restart changes nothing if the context is stored.
module.exports = (RED, load = () => import("spillway")) => {
  function Anomalies(config) {
    RED.nodes.createNode(this, config);
    const columns = String(config.columns || "value")
      .split(",")
      .map((name) => name.trim());
    const opened = open(this, columns, Number(config.alarmRate) || 0.001);
    opened.catch((error) => this.error(error.message));
    let rows = 0;
    // One message after the other, in the order in which they came.
    let turn = Promise.resolve();

    this.on("input", (message, send, done) => {
      turn = turn.then(async () => {
        try {
          const detector = await opened;
          if (message.feedback !== undefined) detector.feedback(message.row, message.feedback);
          else {
            const said = detector.update(valuesOf(message.payload, columns), message.time);
            const out = { ...message, anomaly: said };
            send([out, said.alarm ? out : null]);
            if (said.alarm) this.status({ fill: "red", shape: "dot", text: `${said.alarm.by}: ${said.cause ? said.cause.column : ""}` });
            else if (!said.ongoing) this.status({ fill: said.ready ? "green" : "grey", shape: "dot", text: said.ready ? "" : "learning" });
          }
          if (++rows % 100 === 0) await keep(this, detector);
          done();
        } catch (error) {
          done(error);
        }
      });
    });

    this.on("close", (done) => {
      turn
        .then(async () => keep(this, await opened))
        .then(
          () => done(),
          () => done(),
        );
    });
  }

  /** The detector of the context if it has these columns, else a new one. */
  async function open(node, columns, alarmRate) {
    const { AnomalyDetector } = await load();
    const kept = node.context().get("detector");
    if (kept) {
      try {
        const detector = await AnomalyDetector.fromBytes(Uint8Array.from(Buffer.from(kept, "base64")));
        const { settings } = detector;
        if (String(settings.columns) === String(columns) && settings.alarmRate === alarmRate) return detector;
      } catch (error) {
        node.warn(`the stored detector is not used: ${error.message}`);
      }
    }
    return AnomalyDetector.create({ columns, alarmRate });
  }

  async function keep(node, detector) {
    node.context().set("detector", Buffer.from(await detector.toBytes()).toString("base64"));
  }

  function valuesOf(payload, columns) {
    if (payload === null || typeof payload !== "object" || Array.isArray(payload)) return payload === null ? [null] : payload;
    return columns.map((name) => payload[name] ?? null);
  }

  RED.nodes.registerType("anomalies", Anomalies);
};
