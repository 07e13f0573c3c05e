import { ADDRESS } from '../core/model/address.ts'
import { chainIdOf, parseChain } from '../core/model/chains.ts'
import type { Manifest } from '../core/model/manifest.ts'
import { labelsOf } from '../core/model/wallet-sample.ts'
import { readRecords, recordError } from './csv-records.ts'

/** Names by lowercase address. They are the user's text and not sanitized. */
export type AddressNames = ReadonlyMap<string, string>

/** The names that apply to an export, and its manifest with a label for each wallet that has a name. */
export type NamedExport = { manifest: Manifest; names: AddressNames }

/**
 * Reads a CSV address book and applies it to an export: wallets without a label get their name as label. The names
 * include the labels of wallets. The label of a wallet takes precedence over its name in the file, because the tables
 * contain it. Without a file, the names are the labels.
 *
 * @throws `USAGE` with the line if a cell is invalid, a column is unknown, or an address has two names
 */
export async function applyNames(file: string | undefined, manifest: Manifest): Promise<NamedExport> {
  const book = await readAddressBook(file, chainIdOf(manifest.job.chain))
  const coverage = manifest.coverage.map((wallet) =>
    wallet.label === null ? { ...wallet, label: book.get(wallet.address) ?? null } : wallet,
  )
  return { manifest: { ...manifest, coverage }, names: new Map([...book, ...labelsOf(coverage)]) }
}

const COLUMNS = ['address', 'name', 'chain', 'note']

/** Reads the names of a chain. A line with the chain takes precedence over one without. */
async function readAddressBook(file: string | undefined, chain: string): Promise<AddressNames> {
  if (file === undefined) return new Map()
  const chains = new Map<string | undefined, Map<string, Entry>>()
  await readRecords(file, ['address', 'name'], ({ line, cells: untrimmed }) => {
    const cells = Object.fromEntries(Object.entries(untrimmed).map(([column, text]) => [column, text.trim()]))
    const { address = '', name = '', chain: lineChain = '' } = cells
    const chainId = parseChain(lineChain, chain)
    const entries = chains.get(chainId) ?? new Map<string, Entry>()
    const known = entries.get(address.toLowerCase())
    const problem = validateCells(cells, chainId) ?? (known && findOtherName(cells, known))
    if (problem !== undefined) throw recordError({ file, line }, problem)
    if (name !== '') chains.set(chainId, entries.set(address.toLowerCase(), { line, name }))
  })
  const entries = [undefined, chain].flatMap((chainId) => [...(chains.get(chainId) ?? [])])
  return new Map(entries.map(([address, { name }]) => [address, name]))
}

type Entry = { line: number; name: string }
type Cells = Readonly<Record<string, string>>
type LineProblem = { found: string; expected: string }

function validateCells(
  { address = '', chain = '', ...others }: Cells,
  chainId: string | undefined,
): LineProblem | undefined {
  const unknown = Object.keys(others).find((column) => column !== '' && !COLUMNS.includes(column))
  if (unknown !== undefined) return { found: `column ${unknown}`, expected: `columns ${COLUMNS.join(', ')}` }
  if (!ADDRESS.test(address))
    return { found: `address ${address || 'empty'}`, expected: '0x and 40 hex digits' }
  if (chain === '' || chainId !== undefined) return undefined
  return { found: `chain ${chain}`, expected: 'an id such as 43114, a name such as avalanche, or nothing' }
}

function findOtherName({ address, name = '' }: Cells, known: Entry): LineProblem | undefined {
  if (name === '' || name === known.name) return undefined
  return {
    found: `name ${name} for ${address}, which is ${known.name} in line ${known.line}`,
    expected: 'one name for each address of a chain',
  }
}
