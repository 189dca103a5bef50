// Bundles the browser side into ../resources/web, which is checked in: a Java developer needs no Node. The first line of app.js has the hash of the
// sources; BundleTest compares it.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, readdirSync } from "node:fs";

const out = "../resources/web";
const sources = readdirSync(".").filter((name) => /\.(jsx?|mjs|css|html|json)$/.test(name)).sort();
const hash = createHash("sha256");
for (const name of sources) {
  hash.update(name + "\n").update(readFileSync(name, "utf8").replaceAll("\r\n", "\n"));
}
const banner = `/* sources sha256:${hash.digest("hex")} */`;
await build({
  entryPoints: ["app.jsx", "app.css"],
  outdir: out,
  bundle: true,
  minify: true,
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "inline",
  banner: { js: banner },
  charset: "utf8",
});
copyFileSync("index.html", `${out}/index.html`);
