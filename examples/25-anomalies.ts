// Anomalies in a public series: daily changes of the S&P 500 since 2000, at most one alarm in 500
// days asked. Nothing is trained beforehand; each day is judged by the days before it.
import { AnomalyDetector } from "spillway";
import { readCsv } from "spillway/series";

const { matrix, text } = await readCsv("node_modules/vega-datasets/data/sp500-2000.csv", { columns: ["close"], text: ["date"] });
const changes = Array.from(matrix.data.slice(1), (close, t) => 100 * Math.log(close / matrix.data[t]!));

const detector = await AnomalyDetector.create({ columns: ["change"], alarmRate: 1 / 500 });
const { incidents } = detector.detect(changes, { times: text["date"]!.slice(1) });

// The dot-com crash, September 2001, July 2002, the financial crisis of 2008, March 2020.
for (const { startedAt, by, score } of incidents) console.log(`${startedAt} by ${by}, score ${score.toFixed(2)}`);
console.log(`${incidents.length} incidents in ${detector.rows} days`);
