const escape = { '&': '&amp;', '<': '&lt;', '"': '&quot;' };

export default (text) => text.replace(/[&<"]/g, (char) => escape[char]);
