// What the selectors' tests take from css/support/, which the archive does not hold: written here from what the tests say of it.

// Gives the texts of the selectors of a sheet with one rule of them.
function selectors_in_sheet(selector) {
  const style = document.createElement("style");
  document.head.append(style);
  const { sheet } = style;
  style.remove();
  sheet.insertRule(selector + "{}");
  return Array.from(sheet.cssRules, rule => rule.selectorText);
}

function test_valid_selector(selector, serialized = selector) {
  test(() => {
    document.querySelector(selector);
  }, `${JSON.stringify(selector)} should be a valid selector`);
  test(() => {
    const [text] = selectors_in_sheet(selector);
    if (Array.isArray(serialized)) {
      assert_in_array(text, serialized);
    } else {
      assert_equals(text, serialized);
    }
    assert_equals(selectors_in_sheet(text)[0], text, "written again, it stays what it is");
  }, `serialization of ${JSON.stringify(selector)}`);
}

function test_valid_forgiving_selector(selector, serialized = selector) {
  test_valid_selector(selector, serialized);
}

function test_invalid_selector(selector) {
  test(() => {
    assert_throws_dom("SyntaxError", () => document.querySelector(selector));
  }, `${JSON.stringify(selector)} should be an invalid selector`);
  test(() => {
    assert_throws_dom("SyntaxError", () => selectors_in_sheet(selector));
  }, `${JSON.stringify(selector)} should be refused by insertRule`);
}

function test_query_selector(node, selector, ids) {
  test(() => {
    const found = Array.from(node.querySelectorAll(selector), element => element.id);
    assert_array_equals(found, [].concat(ids));
    assert_equals(node.querySelector(selector).id, found[0]);
  }, `${selector} finds ${[].concat(ids).join(" ")}`);
}
