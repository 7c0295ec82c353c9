// Answers to the calls that this section makes of jQuery, so that the demo carries no library; tests put jQuery itself in its place.
(function (window) {
  var document = window.document;

  function $(what) {
    if (typeof what === 'function') {
      return $(document).ready(what);
    }
    return new Set(what);
  }

  function nodesOf(what) {
    if (what instanceof Set) {
      return what.nodes;
    }
    if (typeof what !== 'string') {
      return what ? [what] : [];
    }
    if (what.charAt(0) === '<') {
      var holder = document.createElement('template');
      holder.innerHTML = what;
      return [].slice.call(holder.content.childNodes);
    }
    return [].slice.call(document.querySelectorAll(what));
  }

  function Set(what) {
    this.nodes = Array.isArray(what) ? what : nodesOf(what);
    this.length = this.nodes.length;
  }

  function each(call) {
    return function () {
      var given = arguments;
      this.nodes.forEach(function (node) {
        call.apply(node, given);
      });
      return this;
    };
  }

  Set.prototype = {
    ready: function (call) {
      if (document.readyState === 'loading') {
        document.addEventListener('DOMContentLoaded', function () {
          call($);
        });
      } else {
        setTimeout(call, 0, $);
      }
      return this;
    },
    each: function (call) {
      this.nodes.forEach(function (node, i) {
        call.call(node, i, node);
      });
      return this;
    },
    find: function (selectors) {
      return new Set(this.nodes.reduce(function (found, node) {
        return found.concat([].slice.call(node.querySelectorAll(selectors)));
      }, []));
    },
    closest: function (selectors) {
      return new Set(this.nodes.map(function (node) {
        return node.closest(selectors);
      }).filter(Boolean));
    },
    append: each(function (what) {
      var here = this;
      nodesOf(what).forEach(function (node) {
        here.appendChild(node);
      });
    }),
    appendTo: function (where) {
      new Set(nodesOf(where)).append(this);
      return this;
    },
    empty: each(function () {
      this.textContent = '';
    }),
    text: each(function (text) {
      this.textContent = text;
    }),
    attr: each(function (name, value) {
      this.setAttribute(name, value);
    }),
    data: each(function (name, value) {
      this['$' + name] = value;
    }),
    addClass: each(function (name) {
      this.classList.add(name);
    }),
    show: each(function () {
      this.style.display = '';
    }),
    on: each(function (type, selectors, call) {
      this.addEventListener(type, function (event) {
        var at = event.target.closest && event.target.closest(selectors);
        if (at && this.contains(at)) {
          call.call(at, event);
        }
      });
    })
  };

  $.each = function (list, call) {
    Object.keys(list).forEach(function (key) {
      call.call(list[key], Array.isArray(list) ? Number(key) : key, list[key]);
    });
    return list;
  };

  $.param = function (data) {
    return Object.keys(data || {}).map(function (key) {
      return encodeURIComponent(key) + '=' + encodeURIComponent(data[key]);
    }).join('&');
  };

  $.ajax = function (options) {
    var request = new XMLHttpRequest(), then = { done: [], fail: [] }, ended = null;
    var data = Object.assign({}, options.data, options.cache === false ? { _: Date.now() } : {});
    var query = $.param(data);

    function end(kind, given) {
      ended = { kind: kind, given: given };
      then[kind].forEach(function (call) {
        call.apply(options, given);
      });
    }

    function later(kind) {
      return function (call) {
        if (ended && ended.kind === kind) {
          call.apply(options, ended.given);
        } else {
          then[kind].push(call);
        }
        return promise;
      };
    }

    var promise = { done: later('done'), fail: later('fail') };
    request.onload = function () {
      if (request.status < 200 || request.status >= 300) {
        return end('fail', [request, 'error']);
      }
      var answer;
      try {
        answer = options.dataType === 'json' ? JSON.parse(request.responseText) : request.responseText;
      } catch (error) {
        return end('fail', [request, 'parsererror', error]);
      }
      end('done', [answer, 'success', request]);
    };
    request.onerror = function () {
      end('fail', [request, 'error']);
    };
    request.open(options.type || 'GET', query ? options.url + (options.url.indexOf('?') < 0 ? '?' : '&') + query : options.url);
    request.setRequestHeader('X-Requested-With', 'XMLHttpRequest');
    request.setRequestHeader('Accept', options.dataType === 'json' ? 'application/json, text/javascript, */*; q=0.01' : '*/*');
    request.send();
    if (options.success) {
      promise.done(options.success);
    }
    return promise;
  };

  $.getJSON = function (url, data, success) {
    return $.ajax({ url: url, data: data, dataType: 'json', success: success });
  };

  window.$ = window.jQuery = $;
})(window);
