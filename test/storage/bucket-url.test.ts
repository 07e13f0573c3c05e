import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bucketUrl, parseBucketUrl, workFolder } from '../../src/storage/bucket-url.ts'

test.for([
  { text: 's3://lake', location: { bucket: 'lake', prefix: '' } },
  { text: 's3://lake/', location: { bucket: 'lake', prefix: '' } },
  { text: 'S3://my.lake-1/a/b c/', location: { bucket: 'my.lake-1', prefix: 'a/b c' } },
])('parses $text', ({ text, location }) => {
  expect(parseBucketUrl(text)).toEqual(location)
  expect(parseBucketUrl(bucketUrl(location))).toEqual(location)
  expect(workFolder(location, 'state').startsWith(join('state', location.bucket))).toBe(true)
})

test.for([
  's3:/lake',
  's3://',
  's3://La/a',
  's3://ab',
  's3://lake/a//b',
  's3://lake/../b',
  's3://lake/a?x=1',
  'lake/a',
])('rejects %s', (text) => {
  expect(parseBucketUrl(text)).toBeUndefined()
})
