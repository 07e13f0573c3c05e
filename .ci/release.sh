#!/usr/bin/env bash
# Makes what a release consists of in the folder release/: the tarball, a list of what it depends on (SBOM), and checksums.
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf release
mkdir release
# A packing that is interrupted leaves its changes to package.json.
trap 'node .ci/shrinkwrap.js remove' EXIT
npm pack --pack-destination release
npm sbom --omit dev --sbom-format cyclonedx --package-lock-only >release/walletlake.cdx.json
(cd release && sha256sum -- * >SHA256SUMS)
printf 'made:\n'
ls release
