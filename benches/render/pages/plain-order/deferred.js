step('deferred-' + document.currentScript.src.split('?')[1]);
