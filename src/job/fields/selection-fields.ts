import type { JobKind } from '../../core/model/model.ts'
import { addressList } from '../addresses/addresses.ts'
import { chainId } from './chain.ts'
import { type Field, freeText, oneOf } from './field-type.ts'
import { integer } from './integer.ts'
import { jobName } from './job-name.ts'

/** The fields that name a job and select what it exports. */
export const SELECTION_FIELDS = {
  /** Name of the run and of the default output folder. */
  name: {
    ...jobName(),
    description:
      'Name of the run and of the default output folder. Defaults to the name of the job file without its extension.',
    examples: ['treasury'],
    synonyms: 'id title job jobname',
    option: {
      name: 'name',
      value: '<name>',
      description: 'name of the job (default: <chain>-<address>)',
      inline: true,
    },
  },
  kind: {
    ...oneOf<JobKind>(['wallets', 'blocks']),
    description:
      'What to export: the histories of wallets, or every transaction of the blocks from startBlock to endBlock.',
    default: 'wallets',
    examples: ['blocks'],
    synonyms: 'mode jobkind',
  },
  /** EVM chain id or blockchain id. */
  chain: {
    ...chainId(),
    description: 'EVM chain id or blockchain id, as the data service names the chain.',
    examples: [43114, '1'],
    synonyms: 'network networkid networkname blockchain blockchainid chainname chains evmchainid',
    option: {
      name: 'chain',
      value: '<id>',
      description: 'EVM chain id or blockchain id',
      inline: true,
    },
  },
  addresses: {
    ...addressList(),
    description:
      'Wallets to export, each an address or an address with a label. A mixed-case address must match its EIP-55 checksum.',
    examples: [
      ['0x52908400098527886e0f7030069857d2e4169ee7'],
      [{ address: '0x52908400098527886e0f7030069857d2e4169ee7', label: 'treasury' }],
    ],
    synonyms: 'wallets wallet address addr addrs accounts account walletaddresses list',
    option: {
      name: 'address',
      value: '<wallet>',
      description: 'wallet, 0x… or 0x…=label (repeatable)',
      repeatable: true,
      inline: true,
    },
  },
  addressesFile: {
    ...freeText(4096),
    description:
      'File with the addresses, in place of addresses; the path is relative to the job file. CSV with the header address or address,label (separated by commas, semicolons or tabs; UTF-8 or UTF-16), or one address per line.',
    examples: ['wallets.csv'],
    synonyms: 'file csv walletsfile walletfile addressfile addresslist addressescsv accountsfile',
  },
  /** First block. */
  startBlock: {
    ...integer(0, Number.MAX_SAFE_INTEGER, 'genesis'),
    description: 'First block to export (inclusive).',
    default: 0,
    examples: [0, 17_000_000],
    synonyms: 'start from begin first since fromblock firstblock blockfrom blockstart',
    option: {
      name: 'start-block',
      value: '<n>',
      description: 'first block (default: 0)',
      inline: true,
    },
  },
  /** Block to stop before. */
  endBlock: {
    ...integer(1, Number.MAX_SAFE_INTEGER, "the chain's head"),
    description: 'Block to stop before (exclusive). Defaults to the head of the chain when the run starts.',
    examples: [18_000_000],
    synonyms: 'end to until last toblock lastblock untilblock blockto blockend',
    option: {
      name: 'end-block',
      value: '<n>',
      description: 'end block, exclusive (default: the head)',
      inline: true,
    },
  },
} as const satisfies Record<string, Field<unknown>>
