import { describe, expect, test } from 'vitest'
import { formatShortNumber, html, nameHtml, percent } from '../../src/html-report/html.ts'
import { visibleText } from '../../src/html-report/visible-text.ts'

describe('numbers formatted for reading', () => {
  test.for([
    { exact: '0', shown: '0' },
    { exact: '1', shown: '1' },
    { exact: '-1.5', shown: '−1.5' },
    { exact: '1234567', shown: '1\u2009234\u2009567' },
    { exact: '1234567.891', shown: '1\u2009234\u2009567.89' },
    { exact: '12.000000000000000001', shown: '12' },
    { exact: '0.000001234567', shown: '0.00000123456' },
    { exact: '0.000000000000000001', shown: '1 × 10^-18' },
    { exact: '-0.00000012345', shown: '−1.23 × 10^-7' },
    { exact: `831${'0'.repeat(71)}`, shown: '8.31 × 10^73' },
    { exact: `1${'0'.repeat(20)}.5`, shown: '1 × 10^20' },
  ])('$exact is shown as $shown', ({ exact, shown }) => {
    expect(formatShortNumber(exact)).toBe(shown)
  })

  test('shares are percentages, small ones with a decimal', () => {
    expect([percent(1, 3), percent(1, 300), percent(0, 5), percent(1, 0)]).toEqual([
      '33 %',
      '0.3 %',
      '0 %',
      '0 %',
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
