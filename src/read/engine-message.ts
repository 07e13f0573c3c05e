/** DuckDB's message for a row of a CSV file that it cannot read. */
export const CSV_ERROR = /^[\w ]+ Error: CSV Error on Line: (\d+)$/m

/**
 * Returns why DuckDB cannot read a file: what it expected and found, without its advice about options of the reader, and
 * `:LINE` if the reason is a row of a CSV file.
 */
export function readingProblem(engineMessage: string): { at: string; reason: string } {
  const line = CSV_ERROR.exec(engineMessage)?.[1]
  if (line === undefined) return { at: '', reason: oneLine(engineMessage).slice(0, 300) }
  const reason = /^Error when .*|^(Expected|Value|Found|Maximum) .*/m.exec(engineMessage)?.[0]
  return { at: `:${line}`, reason: reason ?? 'invalid row' }
}

/** Replaces line breaks, which messages must not contain, with spaces. */
export const oneLine = (text: string): string => text.trim().replaceAll(/\s*[\r\n]\s*/g, ' ')
