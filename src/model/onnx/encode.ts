// An ONNX graph as the bytes of a ModelProto. Field numbers are those of onnx.proto3 (ONNX 1.14, IR
// version 8).

import { toLittleEndian } from "@spillway/io/typed-bytes.js";
import type { Writer } from "protobufjs";
import { type Attribute, type ConstantTensor, type ElementType, elementType, type Graph, type Node, type ValueInfo } from "./graph.js";

/** ONNX 1.14's intermediate representation and operator set: read by every runtime since 2022. */
const irVersion = 8;
const opset = 17;
const producer = "spillway";

/** Numbers of the attribute types (AttributeProto.AttributeType). */
const attributeType = { float: 1, int: 2, graph: 5, ints: 7 } as const;

const varint = 0;
const bytes = 2;
const fixed32 = 5;
const tag = (field: number, wire: number) => field * 8 + wire;

/** The bytes of the model; `metadata` is kept as texts that runtimes show. */
export async function encodeOnnx(graph: Graph, version: string, metadata: Readonly<Record<string, string>>): Promise<Uint8Array> {
  const { Writer: ProtobufWriter } = (await import("protobufjs/minimal.js")).default;
  const writer = ProtobufWriter.create();
  writer.uint32(tag(1, varint)).int64(irVersion);
  writer.uint32(tag(2, bytes)).string(producer);
  writer.uint32(tag(3, bytes)).string(version);
  message(writer, 7, (inner) => writeGraph(inner, graph));
  message(writer, 8, (inner) => inner.uint32(tag(2, varint)).int64(opset));
  for (const [key, value] of Object.entries(metadata)) {
    message(writer, 14, (inner) => inner.uint32(tag(1, bytes)).string(key).uint32(tag(2, bytes)).string(value));
  }
  return writer.finish();
}

function message(writer: Writer, field: number, write: (inner: Writer) => void): void {
  writer.uint32(tag(field, bytes)).fork();
  write(writer);
  writer.ldelim();
}

function writeGraph(writer: Writer, graph: Graph): void {
  for (const node of graph.nodes) message(writer, 1, (inner) => writeNode(inner, node));
  writer.uint32(tag(2, bytes)).string(graph.name);
  for (const constant of graph.constants) message(writer, 5, (inner) => writeTensor(inner, constant));
  for (const input of graph.inputs) message(writer, 11, (inner) => writeValueInfo(inner, input));
  for (const output of graph.outputs) message(writer, 12, (inner) => writeValueInfo(inner, output));
}

function writeNode(writer: Writer, { operator, inputs, outputs, attributes }: Node): void {
  for (const input of inputs) writer.uint32(tag(1, bytes)).string(input);
  for (const output of outputs) writer.uint32(tag(2, bytes)).string(output);
  writer.uint32(tag(3, bytes)).string(outputs[0]!);
  writer.uint32(tag(4, bytes)).string(operator);
  for (const [name, attribute] of Object.entries(attributes)) message(writer, 5, (inner) => writeAttribute(inner, name, attribute));
}

function writeAttribute(writer: Writer, name: string, attribute: Attribute): void {
  writer.uint32(tag(1, bytes)).string(name);
  if ("int" in attribute) {
    writer.uint32(tag(3, varint)).int64(attribute.int);
    writer.uint32(tag(20, varint)).int32(attributeType.int);
  } else if ("ints" in attribute) {
    for (const value of attribute.ints) writer.uint32(tag(8, varint)).int64(value);
    writer.uint32(tag(20, varint)).int32(attributeType.ints);
  } else if ("float" in attribute) {
    writer.uint32(tag(2, fixed32)).float(attribute.float);
    writer.uint32(tag(20, varint)).int32(attributeType.float);
  } else {
    message(writer, 6, (inner) => writeGraph(inner, attribute.graph));
    writer.uint32(tag(20, varint)).int32(attributeType.graph);
  }
}

function writeTensor(writer: Writer, { name, shape, values }: ConstantTensor): void {
  for (const length of shape) writer.uint32(tag(1, varint)).int64(length);
  writer.uint32(tag(2, varint)).int32(elementType[typeOf(values)]);
  writer.uint32(tag(8, bytes)).string(name);
  if (ArrayBuffer.isView(values)) writer.uint32(tag(9, bytes)).bytes(toLittleEndian(values));
  else for (const text of values) writer.uint32(tag(6, bytes)).bytes(new TextEncoder().encode(text));
}

function typeOf(values: ConstantTensor["values"]): ElementType {
  if (values instanceof Float32Array) return "float32";
  if (values instanceof Float64Array) return "float64";
  return values instanceof BigInt64Array ? "int64" : "text";
}

function writeValueInfo(writer: Writer, { name, type, shape }: ValueInfo): void {
  writer.uint32(tag(1, bytes)).string(name);
  message(writer, 2, (typeProto) =>
    message(typeProto, 1, (tensor) => {
      tensor.uint32(tag(1, varint)).int32(elementType[type]);
      message(tensor, 2, (dimensions) => {
        for (const dimension of shape) {
          message(dimensions, 1, (inner) => {
            if (typeof dimension === "number") inner.uint32(tag(1, varint)).int64(dimension);
            else inner.uint32(tag(2, bytes)).string(dimension);
          });
        }
      });
    }),
  );
}
