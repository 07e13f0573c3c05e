import { ExportError } from '../core/errors.ts'

/** The address at which a service reaches this machine, without slashes at its end. Throws USAGE, without secrets. */
export function readReceiverUrl(option: string, text: string | undefined): string {
  if (text === undefined) throw refusal(option, 'nothing')
  if (!/^https?:\/\/[^\s?#@\\]+$/i.test(text) || !URL.canParse(text)) throw refusal(option, hidden(text))
  return new URL(text).href.replace(/\/+$/, '')
}

function refusal(option: string, found: string): ExportError {
  const expected = 'an http or https URL without user, password, query and #'
  return new ExportError('USAGE', `--${option}: found ${found}, expected ${expected}`, {
    fix: 'Give the public address that leads to --listen, like https://me.example/hook.',
  })
}

function hidden(text: string): string {
  return /[@?#]/.test(text) ? 'a URL with more (not shown)' : text
}
