import * as v from 'valibot'
import { ExportError } from '../../core/model/errors.ts'
import { parseJson } from '../../core/platform/json-text.ts'
import { decimalAt } from '../../sources/data-api/transfers.ts'

/** Reads a JSON answer. Throws PAGE_MALFORMED if it does not have the schema. */
export function readAnswer<T extends v.GenericSchema>(schema: T, body: Buffer): v.InferOutput<T> {
  const answer = v.safeParse(schema, parseJson(body.toString('utf8')))
  if (answer.success) return answer.output
  const [{ path = [] } = {}] = answer.issues
  const field = path.map(({ key }) => String(key)).join('.')
  throw new ExportError('PAGE_MALFORMED', `the answer has no valid ${field || 'JSON'}`)
}

/** A price as plain digits; undefined if it is not above zero, which states that there is none. */
export function positivePrice(price: number): string | undefined {
  const digits = price > 0 ? decimalAt({ price }, 'price') : null
  return digits !== null && PRICE.test(digits) ? digits : undefined
}

/** The digits that files of prices may have, above zero. */
const PRICE = /^(?=.*[1-9])\d{1,60}(\.\d{1,60})?$/
