import { visibleText } from './numbers.ts'

/** HTML that is safe to put into a page: untrusted text in it is escaped. Pages are built from this type only. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export type HtmlPart = Html | string | number | readonly HtmlPart[] | undefined

/** Template tag that builds HTML. Inserted values are escaped unless they are `Html` already. */
export function html(texts: TemplateStringsArray, ...parts: HtmlPart[]): Html {
  let text = texts[0] ?? ''
  for (const [at, part] of parts.entries()) text += textOf(part) + (texts[at + 1] ?? '')
  return new Html(text)
}

function textOf(part: HtmlPart): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(textOf).join('')
  return escapeHtml(visibleText(String(part)))
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (letter) => ESCAPES[letter] ?? '')

/** Maximum length of a name on a page, in Unicode code points. */
const MAX_NAME_LENGTH = 40

/** An untrusted name, truncated. */
export function shortName(name: string, length: number = MAX_NAME_LENGTH): string {
  const characters = [...name.slice(0, 4 * MAX_NAME_LENGTH)]
  return characters.length > length ? `${characters.slice(0, length - 1).join('')}…` : name
}

/** An untrusted name, truncated, and in `<bdi>` so that its text direction does not affect the text around it. */
export const nameHtml = (name: string): Html => html`<bdi>${shortName(name)}</bdi>`

/** Details whose content becomes part of the page when they are opened or printed: large pages stay fast. */
export const lazyDetails = (name: string, summary: Html | string, content: Html): Html =>
  html`<details class="${name} lazy"><summary>${summary}</summary><template>${content}</template></details>`

/** JSON for a script element. `<` is escaped, so that untrusted text cannot close the element. */
export const jsonForHtml = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[<\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
