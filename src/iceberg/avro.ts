import { buffer } from 'node:stream/consumers'
import avro, { type Schema } from 'avsc'

/**
 * Writes an Avro object container file.
 *
 * @param schema written as it is, with the field ids that Iceberg needs
 * @param metadata further entries of the header
 */
export function encodeAvro(
  schema: Schema,
  records: readonly object[],
  metadata: Readonly<Record<string, string>> = {},
): Promise<Buffer> {
  const header = Object.fromEntries(Object.entries(metadata).map(([key, text]) => [key, Buffer.from(text)]))
  const options = { codec: 'deflate', metadata: header, writeHeader: true }
  const encoder = new avro.streams.BlockEncoder(schema, options)
  // Without a listener, a record of another shape would be dropped.
  encoder.on('typeError', (cause: Error) => encoder.destroy(cause))
  for (const record of records) encoder.write(record)
  encoder.end()
  return buffer(encoder)
}

/** Reads all records of an Avro object container file. Throws if one has an integer beyond 2^53. */
export async function decodeAvro<Content>(content: Buffer): Promise<Content[]> {
  const decoder = new avro.streams.BlockDecoder()
  const records: Content[] = []
  decoder.on('data', (record: Content) => records.push(record))
  decoder.end(content)
  await new Promise((resolve, reject) => decoder.on('end', resolve).on('error', reject))
  return records
}
