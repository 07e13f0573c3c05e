import { describe, expect, test } from 'vitest'
import { html, nameHtml } from '../../src/html-report/html.ts'
import { de } from '../../src/html-report/messages/de.ts'
import { en } from '../../src/html-report/messages/en.ts'
import { formatMoney, shortenNumber, visibleText } from '../../src/html-report/numbers.ts'

describe('numbers formatted for reading', () => {
  test.for([
    ['0', '0'],
    ['-1.5', '−1.5'],
    ['1234567', '1,234,567'],
    ['1234567.891', '1,234,567.89'],
    ['12.000000000000000001', '12'],
    ['0.000001234567', '0.000001235'],
    ['1821731.815', '1,821,731.82'],
    ['999999999999999.999', '1,000,000,000,000,000'],
    ['-0.0000009996', '−1 × 10⁻⁶'],
    ['0.000000000000000001', '1 × 10⁻¹⁸'],
    [`831${'0'.repeat(71)}`, '8.31 × 10⁷³'],
    [`1${'0'.repeat(20)}.5`, '1 × 10²⁰'],
  ] as const)('%s is shown as %s', ([exact, shown]) => {
    expect(shortenNumber(exact, en.separators)).toBe(shown)
  })

  test('follow the language', () => {
    expect(shortenNumber('-1234567.891', de.separators)).toBe('−1.234.567,89')
    expect(formatMoney('1234.5', de.separators)).toBe('1.234,50')
  })

  test.for([
    ['0', '0.00'],
    ['1.5', '1.50'],
    ['1234567.00000001', '1,234,567.00'],
    ['0.005', '0.01'],
    ['-0.00499999', '0.00'],
    ['-0.015', '−0.02'],
    ['1000000000000000.00000001', '1 × 10¹⁵'],
  ] as const)('a value of %s is shown as %s', ([exact, shown]) => {
    expect(formatMoney(exact, en.separators)).toBe(shown)
  })
})

describe('untrusted text', () => {
  test('is escaped in content and attributes', () => {
    const name = `<img src=x onerror="alert(1)">'&`
    expect(html`<p title="${name}">${name}</p>`.text).toBe(
      '<p title="&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&#39;&amp;">&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&#39;&amp;</p>',
    )
  })

  test('has its control and direction characters replaced, and names are cut after forty characters', () => {
    expect(visibleText('a\u202eb\u0007c\u200bd')).toBe('a␣b␣c␣d')
    expect(nameHtml('é'.repeat(10_000)).text).toBe(`<bdi>${'é'.repeat(39)}…</bdi>`)
  })
})
