/** Text with what hides, rings or turns it shown as ␣. */
export const visibleText = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '␣')
