/**
 * Makes a function that blots secrets out of text: as they are in any case of letters, with any of their characters
 * percent-encoded (once or twice) or escaped as JSON and HTML do, as hexadecimal bytes, and within base64 of any
 * alphabet, at any place. What is blotted out becomes `…`.
 */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const patterns = [...new Set(secrets)]
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length)
    .flatMap(patternsOf)
  return (text) =>
    patterns.reduce(
      (redacted, { prefilter, pattern }) =>
        prefilter.test(redacted) ? redacted.replace(pattern, '…') : redacted,
      text,
    )
}

/** Secrets that this process has read; nothing that it prints shows them. */
const secrets = new Set<string>()
let redact = createRedactor([])

/** Remembers a secret for `redactSecrets`. Short ones are not: too much else looks like them. */
export function registerSecret(secret: string): void {
  if (secret.length < MIN_SECRET_LENGTH || secrets.has(secret)) return
  secrets.add(secret)
  redact = createRedactor([...secrets])
}

const MIN_SECRET_LENGTH = 8

/**
 * Text without the user and password of the URLs in it: `redis://…@host`. A password may hold an `@`, and a `/` that should
 * have been %-encoded.
 */
export function redactUrlPasswords(text: string): string {
  return text.includes('://') ? text.replace(/\S+/g, redactPassword) : text
}

function redactPassword(word: string): string {
  const [start, end] = [word.indexOf('://') + 3, word.lastIndexOf('@')]
  const user = word.slice(start, end)
  const isUser = start > 2 && end >= start && (!user.includes('/') || user.includes(':'))
  return isUser && !/^USER(:PASSWORD)?$/.test(user) ? `${word.slice(0, start)}…${word.slice(end)}` : word
}

/** Text that is about to be printed, without the secrets that were read. */
export function redactSecrets(text: string): string {
  return redact(text)
}

/** Shorter ones would be found in base64 and hexadecimal text that has nothing to do with them. */
const MIN_ENCODED_LENGTH = 4

/** A form of a secret; only text that the hint is in can hold it. Such a form takes a while to be made ready. */
type SecretPattern = { prefilter: RegExp; pattern: RegExp }

function patternsOf(secret: string): SecretPattern[] {
  const plain = { prefilter: /./, pattern: new RegExp(Array.from(secret, escapeRegExp).join(''), 'gi') }
  const spelled = {
    prefilter: /[%\\&]/,
    pattern: new RegExp(Array.from(secret, spellingPattern).join(''), 'gi'),
  }
  if (secret.length < MIN_ENCODED_LENGTH) return [plain, spelled]
  return [plain, spelled, ...base64Patterns(secret), hexPattern(secret)]
}

/** A character as itself, or as addresses, JSON and HTML write it. */
function spellingPattern(char: string): string {
  const bytes = [...Buffer.from(char)].map(hexOf)
  const [once, twice] = ['%', '%25'].map((sign) => bytes.map((hex) => sign + hex).join(''))
  const units = Array.from({ length: char.length }, (_, at) => char.charCodeAt(at).toString(16))
  const json = units.map((unit) => `\\\\u${unit.padStart(4, '0')}`).join('')
  const code = char.codePointAt(0) ?? 0
  const html = `&#0{0,6}${code};|&#x0{0,6}${code.toString(16)};`
  return `(?:\\\\?${escapeRegExp(char)}|${once}|${twice}|${json}|${html})`
}

const hexOf = (byte: number) => byte.toString(16).padStart(2, '0')

function escapeRegExp(char: string): string {
  if (char === ' ') return '[ +]'
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char
}

/** Bytes one after the other, with nothing or one sign between them. */
function hexPattern(secret: string): SecretPattern {
  const bytes = [...Buffer.from(secret)].map(hexOf)
  const between = '(?:[ :,-]|\\\\x|0x)?'
  const pattern = new RegExp(bytes.join(between), 'gi')
  return { prefilter: new RegExp(`(?:[0-9a-f]{2}${between}){${bytes.length}}`, 'i'), pattern }
}

/**
 * Words of base64 with the secret in them, wherever it begins: behind none, one or two bytes of a group of three. Letters
 * that also hold bits of what stands before or after it may be any.
 */
function base64Patterns(secret: string): SecretPattern[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    const [first, end] = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)]
    const stable = bytes.toString('base64').slice(first, end)
    const core = Array.from(stable, (letter) => BASE64_SPELLINGS[letter] ?? letter).join('')
    const pattern = new RegExp(`${SHARED_LETTERS}${core}${SHARED_LETTERS}(?:=|%3[Dd]){0,2}`, 'g')
    return { prefilter: /[A-Za-z0-9]/, pattern }
  })
}

/** The last two letters of the alphabet differ, and addresses have them encoded. */
const BASE64_SPELLINGS: Readonly<Record<string, string>> = {
  '+': '(?:[+-]|%2[Bb])',
  '/': '(?:[/_]|\\\\/|%2[Ff])',
}
/** Letters before and after the certain ones that may hold a few of the secret's bits. */
const SHARED_LETTERS = '(?:[A-Za-z0-9+/_-]|%2[BbFf]){0,3}'
