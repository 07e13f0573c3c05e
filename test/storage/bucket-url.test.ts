import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bucketUrl, parseBucketUrl, workFolder } from '../../src/storage/bucket-url.ts'

test.for([
  { text: 's3://lake', place: { bucket: 'lake', prefix: '' } },
  { text: 's3://lake/', place: { bucket: 'lake', prefix: '' } },
  { text: 'S3://my.lake-1/a/b c/', place: { bucket: 'my.lake-1', prefix: 'a/b c' } },
])('$text is a place', ({ text, place }) => {
  expect(parseBucketUrl(text)).toEqual(place)
  expect(parseBucketUrl(bucketUrl(place))).toEqual(place)
  expect(workFolder(place, 'state').startsWith(join('state', place.bucket))).toBe(true)
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
])('%s is none', (text) => {
  expect(parseBucketUrl(text)).toBeUndefined()
})
