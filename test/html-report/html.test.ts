import { describe, expect, test } from 'vitest'
import { amountHtml, fiatHtml, html, nameHtml, percent, shortenNumber } from '../../src/html-report/html.ts'
import { visibleText } from '../../src/html-report/visible-text.ts'

describe('numbers formatted for reading', () => {
  test.for([
    { exact: '0', shown: '0' },
    { exact: '1', shown: '1' },
    { exact: '-1.5', shown: '−1.5' },
    { exact: '1234567', shown: '1\u202f234\u202f567' },
    { exact: '1234567.891', shown: '1\u202f234\u202f567.89' },
    { exact: '12.000000000000000001', shown: '12' },
    { exact: '0.000001234567', shown: '0.00000123457' },
    { exact: '1821731.815', shown: '1\u202f821\u202f731.82' },
    { exact: '999999999999999.999', shown: '1\u202f000\u202f000\u202f000\u202f000\u202f000' },
    { exact: '-0.0000009996', shown: '−1 × 10^-6' },
    { exact: '0.000000000000000001', shown: '1 × 10^-18' },
    { exact: '-0.00000012345', shown: '−1.23 × 10^-7' },
    { exact: `831${'0'.repeat(71)}`, shown: '8.31 × 10^73' },
    { exact: `1${'0'.repeat(20)}.5`, shown: '1 × 10^20' },
  ])('$exact is shown as $shown', ({ exact, shown }) => {
    expect(shortenNumber(exact).text).toBe(shown)
  })

  test.for([
    { value: 1_500_000n, decimals: 6, isExact: true },
    { value: 1_234_567_891n, decimals: 3, isExact: false },
    { value: 12_000_000_000_000_000_001n, decimals: 18, isExact: false },
    { value: -123n, decimals: 10, isExact: true },
    { value: -1_234n, decimals: 10, isExact: false },
    { value: 10n ** 20n, decimals: 0, isExact: true },
    { value: 10n ** 20n + 1n, decimals: 0, isExact: false },
    { value: 10n ** 20n, decimals: null, isExact: true },
  ])('$value with $decimals decimals is marked unless it is exact', ({ value, decimals, isExact }) => {
    expect(amountHtml(value, decimals).text.includes(' data-rounded')).toBe(!isExact)
  })

  test.for([
    { value: 0n, shown: '0.00', isExact: true },
    { value: 150_000_000n, shown: '1.50', isExact: true },
    { value: 123_456_700_000_001n, shown: '1\u202f234\u202f567.00', isExact: false },
    { value: 500_000n, shown: '0.01', isExact: false },
    { value: -499_999n, shown: '0.00', isExact: false },
    { value: -1_500_000n, shown: '−0.02', isExact: false },
    { value: 10n ** 23n + 1n, shown: '1 × 10^15', isExact: false },
  ])(
    'money of $value units of 10^-8 has two decimal places, or is shortened if nobody has that much',
    ({ value, shown, isExact }) => {
      const { text } = fiatHtml(value)
      expect([/>(.*)</.exec(text)?.[1], text.includes(' data-rounded')]).toEqual([shown, !isExact])
    },
  )

  test('shares are percentages, small ones with a decimal', () => {
    expect([percent(1, 3), percent(1, 300), percent(0, 5), percent(1, 0)]).toEqual([
      '33\u00a0%',
      '0.3\u00a0%',
      '0\u00a0%',
      '0\u00a0%',
    ])
  })
})

describe('untrusted text', () => {
  test('is escaped in content and attributes', () => {
    const name = `<img src=x onerror="alert(1)">'&`
    expect(html`<p title="${name}">${name}</p>`.text).toBe(
      '<p title="&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&#39;&amp;">&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&#39;&amp;</p>',
    )
  })

  test('has its control and direction characters replaced, and names are cut after sixty characters', () => {
    expect(visibleText('a\u202eb\u0007c\u200bd')).toBe('a␣b␣c␣d')
    expect(nameHtml('é'.repeat(10_000)).text).toBe(`<bdi>${'é'.repeat(60)}…</bdi>`)
  })
})
