import { type TestContext, test } from 'vitest'

/** Tests all cases like `test.for`; `npm test` runs only the first `count`, the others are tagged `long`. */
export function testSample<Case>(
  count: number,
  cases: readonly Case[],
  name: string,
  check: (example: Case, context: TestContext) => unknown,
): void {
  const run = (example: Case, context: TestContext) => Promise.resolve(check(example, context)).then(() => {})
  test.for(cases.slice(0, count))(name, run)
  test.for(cases.slice(count))(name, { tags: ['long'] }, run)
}
