/**
 * Replaces control, format, surrogate and separator characters with ␣: they could hide text or reverse its direction.
 */
export const visibleText = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '␣')
