// Bundles the browser side into ../resources/web, packed and checked in: a Java developer needs no Node. The first line of app.js has the hash of the
// sources; BundleTest compares it.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { gzipSync } from "node:zlib";

const out = "../resources/web";
const sources = readdirSync(".").filter((name) => /\.(jsx?|mjs|css|html|json)$/.test(name)).sort();
const hash = createHash("sha256");
for (const name of sources) {
  hash.update(name + "\n").update(readFileSync(name, "utf8").replaceAll("\r\n", "\n"));
}
const banner = `/* sources sha256:${hash.digest("hex")} */`;
const made = await build({
  entryPoints: ["app.jsx", "app.css"],
  outdir: out,
  bundle: true,
  minify: true,
  write: false,
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "inline",
  banner: { js: banner },
  charset: "utf8",
});
for (const file of made.outputFiles) {
  writeFileSync(`${out}/${basename(file.path)}.gz`, gzipSync(file.contents, { level: 9 }));
}
copyFileSync("index.html", `${out}/index.html`);
// For the test of accessibility alone (MPL-2.0, unchanged): test resources are in no jar that is shipped.
writeFileSync("../../test/resources/axe.min.js.gz", gzipSync(readFileSync("node_modules/axe-core/axe.min.js"), { level: 9 }));
