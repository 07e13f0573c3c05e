/** Text as an SQL literal. */
export const quote = (text: string) => `'${text.replaceAll("'", "''")}'`
