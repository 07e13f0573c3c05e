import type { ListMultipartUploadsCommandOutput } from '@aws-sdk/client-s3'
import type { OpenedBucket } from './bucket-client.ts'
import { isNotThere, storeError } from './bucket-error.ts'
import { nameOfPlace } from './bucket-url.ts'

/** Gives up uploads in parts that were begun and never ended, of these paths. Throws OUTPUT_FAILED. */
export async function abortUploads(
  opened: OpenedBucket,
  isAbandoned: (path: string) => boolean,
): Promise<void> {
  const { s3, client, place, keyOf } = opened
  const asked = { Bucket: place.bucket, Prefix: keyOf('') }
  const skipped = keyOf('').length
  try {
    let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {}
    while (from !== undefined) {
      const page: ListMultipartUploadsCommandOutput = await client.send(
        new s3.ListMultipartUploadsCommand({ ...asked, ...from }),
      )
      for (const { Key = '', UploadId } of page.Uploads ?? [])
        if (isAbandoned(Key.slice(skipped))) await abortUpload(opened, { Key, UploadId })
      const next = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
      from = page.IsTruncated ? next : undefined
    }
  } catch (cause) {
    throw storeError(`cannot give up unfinished uploads to ${nameOfPlace(place)}`, cause)
  }
}

type Begun = { Key: string; UploadId: string | undefined }

async function abortUpload({ s3, client, place }: OpenedBucket, upload: Begun): Promise<void> {
  try {
    await client.send(new s3.AbortMultipartUploadCommand({ Bucket: place.bucket, ...upload }))
  } catch (cause) {
    if (!isNotThere(cause)) throw cause
  }
}
