/**
 * Makes a function that blots secrets out of text: as they are in any case of letters, with any of their characters
 * percent-encoded (once or twice) or escaped as JSON and HTML do, as hexadecimal bytes, and within base64 of any
 * alphabet, at any place. What is blotted out becomes `…`.
 */
export function secretHider(secrets: readonly string[]): (text: string) => string {
  const forms = [...new Set(secrets)]
    .filter((secret) => secret !== '')
    .sort((a, b) => b.length - a.length)
    .flatMap(formsOf)
  return (text) =>
    forms.reduce((shown, { hint, form }) => (hint.test(shown) ? shown.replace(form, '…') : shown), text)
}

/** Secrets that this process has read; nothing that it prints shows them. */
const read = new Set<string>()
let hideRead = secretHider([])

/** Remembers a secret for `withoutSecrets`. Short ones are not: too much else looks like them. */
export function rememberSecret(secret: string): void {
  if (secret.length < LEAST_REMEMBERED || read.has(secret)) return
  read.add(secret)
  hideRead = secretHider([...read])
}

const LEAST_REMEMBERED = 8

/**
 * Text without the user and password of the URLs in it: `redis://…@host`. A password may hold an `@`, and a `/` that should
 * have been %-encoded.
 */
export function withoutUrlPasswords(text: string): string {
  return text.includes('://') ? text.replace(/\S+/g, withoutPassword) : text
}

function withoutPassword(word: string): string {
  const [start, end] = [word.indexOf('://') + 3, word.lastIndexOf('@')]
  const user = word.slice(start, end)
  const isUser = start > 2 && end >= start && (!user.includes('/') || user.includes(':'))
  return isUser && !/^USER(:PASSWORD)?$/.test(user) ? `${word.slice(0, start)}…${word.slice(end)}` : word
}

/** Text that is about to be printed, without the secrets that were read. */
export function withoutSecrets(text: string): string {
  return hideRead(text)
}

/** Shorter ones would be found in base64 and hexadecimal text that has nothing to do with them. */
const LEAST_ENCODED = 4

/** A form of a secret; only text that the hint is in can hold it. Such a form takes a while to be made ready. */
type Form = { hint: RegExp; form: RegExp }

function formsOf(secret: string): Form[] {
  const plain = { hint: /./, form: new RegExp(Array.from(secret, literally).join(''), 'gi') }
  const spelled = { hint: /[%\\&]/, form: new RegExp(Array.from(secret, spellingsOf).join(''), 'gi') }
  if (secret.length < LEAST_ENCODED) return [plain, spelled]
  return [plain, spelled, ...base64Forms(secret), hexForm(secret)]
}

/** A character as itself, or as addresses, JSON and HTML write it. */
function spellingsOf(char: string): string {
  const bytes = [...Buffer.from(char)].map(hexOf)
  const [once, twice] = ['%', '%25'].map((sign) => bytes.map((hex) => sign + hex).join(''))
  const units = Array.from({ length: char.length }, (_, at) => char.charCodeAt(at).toString(16))
  const json = units.map((unit) => `\\\\u${unit.padStart(4, '0')}`).join('')
  const code = char.codePointAt(0) ?? 0
  const html = `&#0{0,6}${code};|&#x0{0,6}${code.toString(16)};`
  return `(?:\\\\?${literally(char)}|${once}|${twice}|${json}|${html})`
}

const hexOf = (byte: number) => byte.toString(16).padStart(2, '0')

function literally(char: string): string {
  if (char === ' ') return '[ +]'
  return /[\\^$.*+?()[\]{}|/]/.test(char) ? `\\${char}` : char
}

/** Bytes one after the other, with nothing or one sign between them. */
function hexForm(secret: string): Form {
  const bytes = [...Buffer.from(secret)].map(hexOf)
  const between = '(?:[ :,-]|\\\\x|0x)?'
  const form = new RegExp(bytes.join(between), 'gi')
  return { hint: new RegExp(`(?:[0-9a-f]{2}${between}){${bytes.length}}`, 'i'), form }
}

/**
 * Words of base64 with the secret in them, wherever it begins: behind none, one or two bytes of a group of three. Letters
 * that also hold bits of what stands before or after it may be any.
 */
function base64Forms(secret: string): Form[] {
  return [0, 1, 2].map((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)])
    const [first, end] = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)]
    const certain = bytes.toString('base64').slice(first, end)
    const core = Array.from(certain, (letter) => BASE64_SPELLINGS[letter] ?? letter).join('')
    const form = new RegExp(`${SHARED_LETTERS}${core}${SHARED_LETTERS}(?:=|%3[Dd]){0,2}`, 'g')
    return { hint: /[A-Za-z0-9]/, form }
  })
}

/** The last two letters of the alphabet differ, and addresses have them encoded. */
const BASE64_SPELLINGS: Readonly<Record<string, string>> = {
  '+': '(?:[+-]|%2[Bb])',
  '/': '(?:[/_]|\\\\/|%2[Ff])',
}
/** Letters before and after the certain ones that may hold a few of the secret's bits. */
const SHARED_LETTERS = '(?:[A-Za-z0-9+/_-]|%2[BbFf]){0,3}'
