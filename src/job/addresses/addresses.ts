import { ADDRESS } from '../../core/model/address.ts'
import type { Wallet } from '../../core/model/model.ts'
import { against, type Complain } from '../diagnostics.ts'
import { freeText, type Kind } from '../fields/field-type.ts'
import { complainOfKeys } from '../resolve/check-keys.ts'
import { type Given, textOf } from '../resolve/raw-value.ts'
import { ENTRY_SYNONYMS } from '../synonyms.ts'
import { ADDRESS_EXPECTED, faultOfAddress } from './address.ts'
import { type Entry, enroll, LABEL_CHARACTERS, type Roster, walletsOf } from './wallet-set.ts'

/** A list of addresses, or of `{address, label}`, as wallets in order of their addresses. */
export function addressList(): Kind<readonly Wallet[]> {
  return {
    schema: { type: 'array', minItems: 1, items: { anyOf: [address.schema, LABELLED] } },
    parse: (given, complain) => {
      if (!Array.isArray(given.value)) return refuse(given, listExpected(given), complain)
      if (given.value.length === 0) return refuse(given, 'at least one address', complain)
      const roster: Roster = new Map()
      for (const item of given.value) enrollItem(roster, item, complain)
      return walletsOf(roster)
    },
  }
}

function listExpected({ value }: Given): string {
  if (typeof value === 'string' && value.startsWith('-'))
    return 'a list of addresses: a space behind each "-"'
  return 'a list of addresses, each a line of its own after "- "'
}

/** The text of an unquoted address is taken as written: to YAML it is a number. */
const address: Kind<string> = {
  schema: { type: 'string', pattern: ADDRESS.source },
  parse: (given, complain) => {
    if (given.isRefused) return undefined
    const text = textOf(given)
    const fault = text === undefined ? { expected: ADDRESS_EXPECTED } : faultOfAddress(text)
    if (fault === undefined) return text
    complain({ ...against(given, ADDRESS_EXPECTED), ...fault })
    return undefined
  },
}

const label = freeText(LABEL_CHARACTERS)

const LABELLED = {
  type: 'object',
  properties: {
    address: {
      ...address.schema,
      description: '0x and 40 hex digits; mixed letter case has to fit the checksum (EIP-55).',
    },
    label: { ...label.schema, description: 'Your name for the wallet, as it stands in the tables.' },
  },
  required: ['address'],
  additionalProperties: false,
}

const ENTRY_NAMES = ['address', 'label']
const ENTRY_KEYS = { known: ENTRY_NAMES, meant: ENTRY_NAMES, synonyms: ENTRY_SYNONYMS }

function enrollItem(roster: Roster, item: Given, complain: Complain): void {
  if (item.isRefused) return
  const entry = item.value instanceof Map ? labelled(item, item.value, complain) : plain(item, complain)
  if (entry !== undefined) enroll(roster, entry, complain)
}

function plain(item: Given, complain: Complain): Entry | undefined {
  if (item.value === null || Array.isArray(item.value)) {
    return refuse(item, `${ADDRESS_EXPECTED}, or {address, label}`, complain)
  }
  const parsed = address.parse(item, complain)
  return parsed === undefined
    ? undefined
    : { field: item.field, place: item.place, address: parsed, label: null }
}

function labelled(item: Given, entries: ReadonlyMap<string, Given>, complain: Complain): Entry | undefined {
  let hasComplaint = false
  complainOfKeys(entries, ENTRY_KEYS, (complaint) => {
    hasComplaint = true
    complain(complaint)
  })
  const [givenAddress, givenLabel] = [entries.get('address'), entries.get('label')]
  const parsedLabel = givenLabel && label.parse(givenLabel, complain)
  if (givenAddress === undefined)
    return hasComplaint ? undefined : refuse(item, 'a mapping with an address', complain)
  const parsed = address.parse(givenAddress, complain)
  const { field, place } = givenAddress
  return parsed === undefined ? undefined : { field, place, address: parsed, label: parsedLabel ?? null }
}

function refuse(given: Given, expected: string, complain: Complain): undefined {
  complain(against(given, expected))
}
