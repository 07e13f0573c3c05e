import { ExportError } from '../../core/model/errors.ts'
import type { Skip } from './compare-wallet.ts'

/** Why the native coin of wallets was not compared. */
type Reason = { text: string; fix?: string }

const REASONS: Readonly<Record<Skip, Reason>> = {
  'not-offered': { text: 'the service lacks or refuses the balances' },
  'later-transactions': {
    text: 'transactions followed the exported blocks, and the service reports current balances only',
    fix: 'Run the job again when these wallets have been quiet for a while (a run leaves out transactions younger than finality), or compare with another service: --base-url names it.',
  },
  'no-opening': {
    text: 'the export begins after block 0, and the service reports current balances only',
    fix: 'Give the balances before the first block with --opening FILE (see balances --template), or another service with --base-url.',
  },
}

/** The error about wallets whose native coin was not compared. `skipped` has all kinds of assets. */
export function notComparedError(what: string, skipped: readonly { kind: string; why: Skip }[]): ExportError {
  const { why } = skipped.find(({ kind }) => kind === 'native') ?? { why: 'not-offered' }
  const { text, fix } = REASONS[why]
  return new ExportError('BALANCES_UNAVAILABLE', `${what}: ${text}`, { fix })
}
