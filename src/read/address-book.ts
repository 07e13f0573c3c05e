import { ADDRESS } from '../core/model/address.ts'
import { chainIdOf, parseChain } from '../core/model/chains.ts'
import type { Manifest } from '../core/model/manifest.ts'
import { labelsOf } from '../core/model/wallet-sample.ts'
import { readRecords } from './csv-records.ts'

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

/** Reads the names of a chain. A line with the chain takes precedence over one without. */
async function readAddressBook(file: string | undefined, chain: string): Promise<AddressNames> {
  if (file === undefined) return new Map()
  const chains = new Map<string | undefined, Map<string, { line: number; name: string }>>()
  await readRecords(
    file,
    ['address', 'name'],
    ({ line, cells, error, expect }) => {
      const { address = '', name = '', chain: chainCell = '' } = cells
      const chainId = parseChain(chainCell, chain)
      expect('address', ADDRESS.test(address), '0x and 40 hex digits')
      expect('chain', chainCell === '' || chainId !== undefined, CHAIN_EXPECTED)
      if (name === '') return
      const entries = chains.get(chainId) ?? new Map<string, { line: number; name: string }>()
      const earlier = entries.get(address.toLowerCase())
      if (earlier !== undefined && earlier.name !== name)
        throw error(
          `name ${name} for ${address}, which is ${earlier.name} in line ${earlier.line}`,
          'one name for each address of a chain',
        )
      chains.set(chainId, entries.set(address.toLowerCase(), { line, name }))
    },
    { columns: ['address', 'name', 'chain', 'note'], isTrimmed: true },
  )
  const entries = [undefined, chain].flatMap((chainId) => [...(chains.get(chainId) ?? [])])
  return new Map(entries.map(([address, { name }]) => [address, name]))
}

const CHAIN_EXPECTED = 'an id such as 43114, a name such as avalanche, or nothing'
