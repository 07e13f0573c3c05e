import type { ExplorerApi } from '../../core/model/api.ts'
import { ExportError } from '../../core/model/errors.ts'

/** Ways in which services of an explorer API differ from each other, to test clients against. */
export const EXPLORER_QUIRKS = {
  'free-plan': {
    api: 'etherscan',
    about: 'an answer has at most 1,000 records, as for free keys',
  },
  'before-9': {
    api: 'blockscout',
    about: 'transfers have a log index, and tokentx lists all standards, as before version 9.0.0',
  },
  'late-internals': {
    api: 'blockscout',
    about: 'the internal transactions of the last 10 blocks are not processed yet',
  },
} as const satisfies Record<string, { api: ExplorerApi; about: string }>

export type ExplorerQuirk = keyof typeof EXPLORER_QUIRKS

/**
 * Reads names of quirks; each text is a list separated by commas.
 *
 * @throws USAGE if the API has no such quirk
 */
export function readExplorerQuirks(texts: readonly string[], api: ExplorerApi): ExplorerQuirk[] {
  const known = explorerQuirks().filter((name) => EXPLORER_QUIRKS[name].api === api)
  const names = texts.flatMap((text) => text.split(',')).map((name) => name.trim())
  return names.map((name) => {
    const quirk = known.find((candidate) => candidate === name)
    if (quirk !== undefined) return quirk
    throw new ExportError(
      'USAGE',
      `the API ${api} has no quirk ${JSON.stringify(name)}: expected one of ${known.join(', ')}`,
    )
  })
}

function explorerQuirks(): ExplorerQuirk[] {
  return Object.keys(EXPLORER_QUIRKS) as ExplorerQuirk[]
}
