/** References of JSON documents: a document's address, `#`, and a JSON pointer (RFC 6901). */

exports.escapePointer = (key) =>
  typeof key === 'number' ? key : key.replaceAll('~', '~0').replaceAll('/', '~1');

exports.parseRef = (reference) => {
  const [uri, pointer = ''] = reference.split('#/');
  const keys = pointer.split('/').filter((key) => key !== '');
  return {
    uri: uri.replace(/#$/, '') || null,
    pointer: keys.map((key) => decodeURIComponent(key.replaceAll('~1', '/').replaceAll('~0', '~'))),
  };
};
