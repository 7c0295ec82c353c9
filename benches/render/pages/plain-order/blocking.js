step('blocking');
