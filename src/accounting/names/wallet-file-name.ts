import type { Movement } from '../movement.ts'
import { safeText } from './asset-name.ts'

/** File names are limited to 255 bytes: 45 characters of up to 4 bytes, the address and the extension. */
const MAX_LABEL_CHARACTERS = 45

/**
 * The name, without extension, of the file that a movement belongs to if each wallet has its own. A wallet with different
 * labels in several exports has a file for each label.
 */
export function walletFileName({ wallet, label }: Pick<Movement, 'wallet' | 'label'>): string {
  const sanitized = safeText(label ?? '').replace(/[^\p{L}\p{N}._ -]/gu, '')
  const name = [...sanitized].slice(0, MAX_LABEL_CHARACTERS).join('')
  return name === '' ? wallet : `${name}-${wallet}`
}
