window.injected = false;
