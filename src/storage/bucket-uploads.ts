import type { ListMultipartUploadsCommandOutput } from '@aws-sdk/client-s3'
import type { BucketClient } from './bucket-client.ts'
import { isNotFound, storeError } from './bucket-error.ts'
import { bucketUrl } from './bucket-url.ts'
import { requireNewPage } from './store-response.ts'

/** Aborts unfinished multipart uploads of the selected paths. Throws OUTPUT_FAILED. */
export async function abortUploads(
  bucket: BucketClient,
  isAbandoned: (path: string) => boolean,
): Promise<void> {
  const { s3, client, location, keyOf } = bucket
  const request = { Bucket: location.bucket, Prefix: keyOf('') }
  const prefixLength = keyOf('').length
  try {
    let from: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | undefined = {}
    const pages = new Set<string>()
    while (from !== undefined) {
      requireNewPage(pages, `${from.KeyMarker} ${from.UploadIdMarker}`)
      const page: ListMultipartUploadsCommandOutput = await client.send(
        new s3.ListMultipartUploadsCommand({ ...request, ...from }),
      )
      for (const { Key = '', UploadId } of page.Uploads ?? [])
        if (isAbandoned(Key.slice(prefixLength))) await abortUpload(bucket, { Key, UploadId })
      const next = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
      from = page.IsTruncated ? next : undefined
    }
  } catch (cause) {
    throw storeError(`cannot abort unfinished uploads to ${bucketUrl(location)}`, cause)
  }
}

type StartedUpload = { Key: string; UploadId: string | undefined }

async function abortUpload({ s3, client, location }: BucketClient, upload: StartedUpload): Promise<void> {
  try {
    await client.send(new s3.AbortMultipartUploadCommand({ Bucket: location.bucket, ...upload }))
  } catch (cause) {
    if (!isNotFound(cause)) throw cause
  }
}
