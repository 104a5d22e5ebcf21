// Writes the pack: all files of the dashboard in one. src/server/dashboard/pack.cc reads it.
//
//   pennyweight-pack 1 COUNT\n
//   COUNT lines: PATH \t CONTENT-TYPE \t ETAG \t immutable|revalidate \t identity=N [gzip=N] [br=N]\n
//   then the bytes: of each file in the order of the lines, of each variant in the order it is named.
//
// An encoding is listed only if it is smaller. PATH begins with a slash; ETAG is a hash of the bytes, so that
// the same sources give the same pack.
import { createHash } from "node:crypto";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const MAGIC = "pennyweight-pack 1";
const SMALL = 256; // smaller files are not compressed

export function hashOf(bytes) {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 20);
}

function variantsOf(bytes) {
  const variants = [["identity", bytes]];
  if (bytes.length < SMALL) return variants;
  const gzip = gzipSync(bytes, { level: 9 });
  gzip[9] = 255; // operating system "unknown", so that all machines write the same bytes
  const br = brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
  if (gzip.length < bytes.length) variants.push(["gzip", gzip]);
  if (br.length < bytes.length) variants.push(["br", br]);
  return variants;
}

// files: [{ path, type, immutable, bytes }]
export function writePack(files) {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const lines = [`${MAGIC} ${sorted.length}`];
  const parts = [];
  for (const file of sorted) {
    const variants = variantsOf(file.bytes);
    const sizes = variants.map(([name, bytes]) => `${name}=${bytes.length}`).join(" ");
    const caching = file.immutable ? "immutable" : "revalidate";
    lines.push([file.path, file.type, hashOf(file.bytes), caching, sizes].join("\t"));
    for (const [, bytes] of variants) parts.push(bytes);
  }
  return Buffer.concat([Buffer.from(lines.join("\n") + "\n"), ...parts]);
}
