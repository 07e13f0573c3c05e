import * as v from 'valibot'
import { ADDRESS } from '../../core/model/address.ts'
import type { Wallet } from '../../core/model/model.ts'
import { invalidValue, type ReportDiagnostic } from '../diagnostics.ts'
import { type FieldType, freeText } from '../fields/field-type.ts'
import { reportUnknownKeys, synonymsFrom } from '../resolve/check-keys.ts'
import { type RawContent, type RawOrigin, type RawValue, textOf } from '../resolve/raw-value.ts'
import { ADDRESS_EXPECTED, addressProblem } from './address.ts'
import {
  addWallet,
  MAX_LABEL_CHARACTERS,
  sortedWallets,
  type WalletEntry,
  type WalletSet,
} from './wallet-set.ts'

/** A list of addresses or `{address, label}` entries, parsed to wallets sorted by address. */
export function addressList(): FieldType<readonly Wallet[], readonly (string | WrittenWallet)[]> {
  return {
    schema: { type: 'array', minItems: 1, items: { anyOf: [address.schema, LABELLED_SCHEMA] } },
    parsed: v.array(
      v.strictObject({
        address: v.pipe(v.string(), v.regex(LOWER_CASE_ADDRESS)),
        label: v.nullable(label.parsed),
      }),
    ),
    fromTexts: (texts, origin) => texts.map((text) => ({ ...origin, value: rawWallet(text, origin) })),
    parse: (raw, report) => {
      if (!Array.isArray(raw.value)) return reportInvalid(raw, listExpected(raw), report)
      if (raw.value.length === 0) return reportInvalid(raw, 'at least one address', report)
      const wallets: WalletSet = new Map()
      for (const item of raw.value) addWalletItem(wallets, item, report)
      return sortedWallets(wallets)
    },
  }
}

const LOWER_CASE_ADDRESS = /^0x[0-9a-f]{40}$/

type WrittenWallet = { address: string; label?: string }

/** Splits the value of `--address`, `0x…` or `0x…=label`. */
export function splitWallet(text: string): { address: string; label: string | null } {
  const [address = '', ...label] = text.split('=')
  return { address, label: label.length === 0 ? null : label.join('=') }
}

/** Converts the value of `--address` to an entry of the list in a job file. */
function rawWallet(text: string, origin: RawOrigin): RawContent {
  const { address, label } = splitWallet(text)
  if (label === null) return address
  return new Map<string, RawValue>([
    ['address', { ...origin, value: address }],
    ['label', { ...origin, value: label }],
  ])
}

function listExpected({ value }: RawValue): string {
  if (typeof value === 'string' && value.startsWith('-'))
    return 'a list of addresses: a space behind each "-"'
  return 'a list of addresses, each on its own line after "- "'
}

/** Reads the source text of an unquoted address, which YAML parses as a number. */
const address: FieldType<string> = {
  schema: { type: 'string', pattern: ADDRESS.source },
  parsed: v.pipe(v.string(), v.regex(ADDRESS)),
  parse: (raw, report) => {
    if (raw.isInvalid) return undefined
    const text = textOf(raw)
    const problem = text === undefined ? { expected: ADDRESS_EXPECTED } : addressProblem(text)
    if (problem === undefined) return text
    report({ ...invalidValue(raw, ADDRESS_EXPECTED), ...problem })
    return undefined
  },
}

const label = freeText(MAX_LABEL_CHARACTERS)

const LABELLED_SCHEMA = {
  type: 'object',
  properties: {
    address: {
      ...address.schema,
      description: '0x and 40 hex digits; mixed letter case has to fit the checksum (EIP-55).',
    },
    label: { ...label.schema, description: 'Your name for the wallet, as it appears in the tables.' },
  },
  required: ['address'],
  additionalProperties: false,
}

const ENTRY_NAMES = ['address', 'label']
const ENTRY_SYNONYMS = synonymsFrom([
  ['address', 'wallet account addr hash'],
  ['label', 'name tag alias title note comment description'],
])
const ENTRY_KEYS = { known: ENTRY_NAMES, suggestable: ENTRY_NAMES, synonyms: ENTRY_SYNONYMS }

function addWalletItem(wallets: WalletSet, item: RawValue, report: ReportDiagnostic): void {
  if (item.isInvalid) return
  const entry =
    item.value instanceof Map ? parseLabelledEntry(item, item.value, report) : parsePlainEntry(item, report)
  if (entry !== undefined) addWallet(wallets, entry, report)
}

function parsePlainEntry(item: RawValue, report: ReportDiagnostic): WalletEntry | undefined {
  if (item.value === null || Array.isArray(item.value)) {
    return reportInvalid(item, `${ADDRESS_EXPECTED}, or {address, label}`, report)
  }
  const parsed = address.parse(item, report)
  return parsed === undefined
    ? undefined
    : { field: item.field, location: item.location, address: parsed, label: null }
}

function parseLabelledEntry(
  item: RawValue,
  entries: ReadonlyMap<string, RawValue>,
  report: ReportDiagnostic,
): WalletEntry | undefined {
  let hasDiagnostic = false
  reportUnknownKeys(entries, ENTRY_KEYS, (diagnostic) => {
    hasDiagnostic = true
    report(diagnostic)
  })
  const [rawAddress, rawLabel] = [entries.get('address'), entries.get('label')]
  const parsedLabel = rawLabel && label.parse(rawLabel, report)
  if (rawAddress === undefined)
    return hasDiagnostic ? undefined : reportInvalid(item, 'a mapping with an address', report)
  const parsed = address.parse(rawAddress, report)
  const { field, location } = rawAddress
  return parsed === undefined ? undefined : { field, location, address: parsed, label: parsedLabel ?? null }
}

function reportInvalid(raw: RawValue, expected: string, report: ReportDiagnostic): undefined {
  report(invalidValue(raw, expected))
}
