/** A sentence without the parts in brackets whose values are missing. */
export const sentenceOf = (template: string, values: ReadonlySet<string>): string =>
  template.replace(/\[([^\]]*)\]/g, (_, part: string) =>
    values.has(/\{(\w+)\}/.exec(part)?.[1] ?? '') ? part : '',
  )
