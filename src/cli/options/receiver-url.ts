import type { ExportError } from '../../core/model/errors.ts'
import { optionError } from '../../core/model/option-error.ts'

/**
 * Validates the URL at which the service reaches this machine, and removes trailing slashes. Throws USAGE; the message does not
 * show credentials or queries.
 */
export function readReceiverUrl(option: string, text: string | undefined): string {
  if (text === undefined) throw invalidReceiverUrl(option, '')
  if (!/^https?:\/\/[^\s?#@\\]+$/i.test(text) || !URL.canParse(text))
    throw invalidReceiverUrl(option, redactUrl(text))
  return new URL(text).href.replace(/\/+$/, '')
}

function invalidReceiverUrl(option: string, found: string): ExportError {
  return optionError(option, {
    found,
    expected: 'an http or https URL without user, password, query and #',
    fix: 'Give the public address that leads to --listen, like https://me.example/hook.',
  })
}

function redactUrl(text: string): string {
  return /[@?#]/.test(text) ? 'a URL with credentials or a query (not shown)' : text
}
