/** Is imported by a part of VitePress that no page here loads. */
export default function docsearch() {
  throw new Error('@docsearch/js is a stand-in: set search.provider to "local"');
}
