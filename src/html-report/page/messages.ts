import type { Messages } from '../messages/en.ts'

/** The texts that the script needs. */
export type PageMessages = Pick<Messages, 'activity' | 'table' | 'separators' | 'locale' | 'units'>
