import * as v from 'valibot'
import type { Wallet } from '../../core/model/model.ts'
import {
  formatLocation,
  invalidValue,
  quoted,
  type RawContent,
  type RawOrigin,
  type RawValue,
  type ReportDiagnostic,
  type SourceLocation,
} from '../diagnostics.ts'
import { type FieldType, freeText } from '../fields/field-type.ts'
import { reportUnknownKeys, synonymsFrom } from '../resolve/check-keys.ts'
import { ADDRESS_EXPECTED, address } from './address.ts'

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
      if (raw.isInvalid) return undefined
      if (!Array.isArray(raw.value)) return reportInvalid(raw, listExpected(raw), report)
      if (raw.value.length === 0) return reportInvalid(raw, 'at least one address', report)
      const wallets: WalletSet = new Map()
      for (const item of raw.value as readonly RawValue[]) {
        if (item.isInvalid) continue
        const entry =
          item.value instanceof Map
            ? parseLabelledEntry(item, item.value, report)
            : parsePlainEntry(item, report)
        if (entry !== undefined) addWallet(wallets, entry, report)
      }
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

export const MAX_LABEL_CHARACTERS = 256
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
const ENTRY_KEYS = { names: ENTRY_NAMES, suggestable: ENTRY_NAMES, synonyms: ENTRY_SYNONYMS }

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

/** The wallets so far by lower-case address, each with its location. */
export type WalletSet = Map<string, { readonly wallet: Wallet; readonly location: SourceLocation }>

export type WalletEntry = {
  readonly field: string
  readonly location: SourceLocation
  /** 0x and 40 hex digits, in any letter case. */
  readonly address: string
  readonly label: string | null
}

/** Adds a wallet. Reports an address that is already in the set, compared case-insensitively. */
export function addWallet(wallets: WalletSet, entry: WalletEntry, report: ReportDiagnostic): void {
  const address = entry.address.toLowerCase()
  const existing = wallets.get(address)
  if (existing === undefined) {
    wallets.set(address, { wallet: { address, label: entry.label }, location: entry.location })
    return
  }
  const expected = `each address once (first at ${formatLocation(existing.location)})`
  report({ location: entry.location, field: entry.field, found: `${quoted(entry.address)} again`, expected })
}

/** Returns the wallets sorted by address, so that the order of the list does not affect the export. */
export function sortedWallets(wallets: WalletSet): readonly Wallet[] {
  return [...wallets.values()]
    .map(({ wallet }) => wallet)
    .sort((a, b) => (a.address < b.address ? -1 : a.address > b.address ? 1 : 0))
}
