var names = [];
for (var i = 1; i <= 40; i++) names.push('t' + i);
