angular
  .module('app', ['ngRoute'])
  .config(function ($routeProvider) {
    $routeProvider
      .when('/list/:page', {
        templateUrl: 'list.html',
        resolve: {
          data: function ($http, $route) {
            return $http.get('/api/torrents?page=' + $route.current.params.page).then(function (answer) {
              return answer.data;
            });
          },
        },
      })
      .when('/torrent/:id', {
        templateUrl: 'torrent.html',
        controller: function ($scope, $routeParams) {
          $scope.id = $routeParams.id;
        },
      })
      .otherwise('/list/1');
  })
  .directive('torrentLink', function () {
    return {
      restrict: 'A',
      scope: { item: '=' },
      template: '<a href="#!/torrent/{{item.id}}">{{item.name}}</a>',
      link: function (scope, element) {
        element.append(angular.element('<a>').attr('href', scope.item.magnet).text('magnet'));
      },
    };
  });
angular.element(function () {
  angular.bootstrap(document.getElementById('app'), ['app']);
});
