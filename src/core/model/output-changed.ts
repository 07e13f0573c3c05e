import { type Api, DEFAULT_FINALITY_MS } from './api.ts'
import { ExportError } from './errors.ts'

/** A setting of which an output has one value and the job that uses the output another. */
type ChangedSetting = {
  /** Path of the field in job files. */
  field: string
  previous: number | string | undefined
  current: number | string | undefined
}

type OutputChange = {
  /** The sentence up to the colon that precedes the changes. */
  what: string
  settings: readonly ChangedSetting[]
  /** Further differences, as text. */
  others?: readonly string[]
  /** The fix, unless only the API differs. @default that of OUTPUT_CHANGED */
  fix?: string
}

/** Returns OUTPUT_CHANGED, which lists the changed settings. */
export function outputChanged({ what, settings, others = [], fix }: OutputChange): ExportError {
  const changes = [...settings.map(formatChange), ...others]
  const [first] = changes.length === 1 ? settings : []
  const chosenFix = first?.field === API_FIELD ? apiFix(first) : fix
  return new ExportError(
    'OUTPUT_CHANGED',
    `${what}: ${changes.join(', ')}`,
    chosenFix === undefined ? {} : { fix: chosenFix },
  )
}

/** If only the API differs, the job most likely omits it. */
const apiFix = ({ previous }: ChangedSetting) =>
  `The output was read with ${API_FIELD}: ${previous}. Set that in the job, or add --api ${previous}. --fresh would discard what was read.`

const formatChange = ({ field, previous, current }: ChangedSetting) =>
  `${field} was ${previous} and is ${current}`

/** The field that names the API of a service. */
export const API_FIELD = 'service.api'

/** Whether two values of `finality` are both the defaults of their APIs, so that only the API has changed. */
export function areDefaultFinalities(...runs: readonly { api: Api; finalityMs: number }[]): boolean {
  return runs.every(({ api, finalityMs }) => finalityMs === DEFAULT_FINALITY_MS[api])
}
