import { type FieldType, textMatching } from './field-type.ts'

/** A name that can be used as a folder name. */
export function jobName(): FieldType<string> {
  return textMatching(
    /^[a-z0-9][a-z0-9._-]{0,63}$/,
    'a name of 1 to 64 of a-z, 0-9, ".", "_" and "-", the first a letter or digit',
    suggestName,
  )
}

/** Suggests a valid name: lower case, with `-` in place of characters that a name cannot contain. */
function suggestName(text: string): string | undefined {
  const likely = text
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|-+$/g, '')
  return likely === '' || likely === text ? undefined : likely
}
