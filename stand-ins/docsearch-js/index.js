/** A part of VitePress that no page here loads imports this module. */
export default function docsearch() {
  throw new Error('@docsearch/js is a stand-in: set search.provider to "local"');
}
