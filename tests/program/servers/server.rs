//! The four servers, each a child of the test on a free loopback port with its own configuration. None
//! forks, so that killing the child stops the server.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The end of every message about a missing program.
const HINT: &str = "hint: scripts/test installs what the tests need, then runs them";

/// Attempts to find a port that nobody else takes before the server binds it.
const PORT_TRIES: usize = 5;

/// Number of 20 ms intervals that a server may take to start.
const START_POLLS_MAX: usize = 500;

/// Programs that list folders, as their Debian packages install them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Nginx,
    Apache,
    Lighttpd,
    PythonHttp,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::Nginx, Self::Apache, Self::Lighttpd, Self::PythonHttp];

    /// Name of the site in the rule files and of its family in `rules/families/`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Apache => "apache",
            Self::Lighttpd => "lighttpd",
            Self::PythonHttp => "python-http",
        }
    }

    fn command(self, tree: &Path, folder: &Path, port: u16) -> Command {
        let configuration = folder.join(format!("{}.conf", self.name()));
        match self {
            Self::Nginx => {
                write(&configuration, &nginx(tree, folder, port));
                let mut command = Command::new(find("nginx", "nginx-light"));
                command.arg("-e").arg("stderr").arg("-c").arg(configuration);
                command
            }
            Self::Apache => {
                write(&configuration, &apache(tree, folder, port));
                let mut command = Command::new(find("apache2", "apache2-bin"));
                command.arg("-X").arg("-f").arg(configuration);
                command
            }
            Self::Lighttpd => {
                write(&configuration, &lighttpd(tree, port));
                let mut command = Command::new(find("lighttpd", "lighttpd"));
                command.arg("-D").arg("-f").arg(configuration);
                command
            }
            Self::PythonHttp => {
                let mut command = Command::new(find("python3", "python3"));
                command.args(["-m", "http.server", &port.to_string(), "--bind", "127.0.0.1", "--directory"]).arg(tree);
                command
            }
        }
    }
}

/// A running server; stops when dropped.
pub struct Server {
    pub kind: Kind,
    pub port: u16,
    child: Child,
}

impl Server {
    /// Serves `tree`; configuration and logs are in `folder`. Panics with the server's own message, or with
    /// instructions to install the program.
    pub fn start(kind: Kind, tree: &Path, folder: &Path) -> Self {
        for _ in 0..PORT_TRIES {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            let log = folder.join(format!("{}.log", kind.name()));
            let child = kind
                .command(tree, folder, port)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(fs::File::create(&log).unwrap())
                .process_group(0)
                .spawn()
                .unwrap_or_else(|error| panic!("{}: {error}\n{HINT}", kind.name()));
            let mut server = Self { kind, port, child };
            if server.answers() {
                return server;
            }
            let told = fs::read_to_string(&log).unwrap_or_default();
            assert!(told.to_lowercase().contains("address already in use"), "{} did not start:\n{told}", kind.name());
        }
        panic!("{}: no free port in {PORT_TRIES} tries", kind.name());
    }

    /// `http://127.0.0.1:PORT`
    pub fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The response to `GET path`, head and body.
    pub fn get(&self, path: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        write!(stream, "GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\n\r\n", self.port)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// Waits until the server responds; false if it ended instead.
    fn answers(&mut self) -> bool {
        for _ in 0..START_POLLS_MAX {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            if self.get("/").is_ok_and(|answer| answer.starts_with("HTTP/1.")) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{} does not answer on port {}", self.kind.name(), self.port);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Ok(pid) = i32::try_from(self.child.id()) {
            // The child has its own process group; helpers that it may have started are killed with it.
            if let Some(group) = rustix::process::Pid::from_raw(pid) {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
        }
        let _ = self.child.wait();
    }
}

/// The program's path: Debian installs daemons in sbin, which is not on every user's PATH, and a pyenv python
/// would not have libtorrent.
pub fn find(program: &str, package: &str) -> String {
    ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin", "/sbin", "/bin"]
        .iter()
        .map(|folder| format!("{folder}/{program}"))
        .find(|path| Path::new(path).exists())
        .unwrap_or_else(|| panic!("{program} is missing (Debian package {package})\n{HINT}"))
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Debian's `mime.types` has no torrents for any of the servers; they get each server's default type.
fn nginx(tree: &Path, folder: &Path, port: u16) -> String {
    let (tree, folder) = (tree.display(), folder.display());
    format!(
        "daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr warn;
        events {{ worker_connections 256; }}
        http {{
            include /etc/nginx/mime.types;
            access_log off;
            client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
            fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
            server {{ listen 127.0.0.1:{port}; root \"{tree}\"; charset utf-8; autoindex on; }}
        }}\n"
    )
}

/// `IndexOptions` and `IndexIgnore` as in Debian's `autoindex.conf`.
fn apache(tree: &Path, folder: &Path, port: u16) -> String {
    let (tree, folder) = (tree.display(), folder.display());
    let modules: String = ["mpm_event", "authz_core", "mime", "dir", "autoindex"]
        .iter()
        .map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"))
        .collect();
    format!(
        "{modules}
        ServerName 127.0.0.1
        ServerRoot \"{folder}\"
        DefaultRuntimeDir \"{folder}\"
        PidFile \"{folder}/apache.pid\"
        Listen 127.0.0.1:{port}
        User #65534
        Group #65534
        ErrorLog /dev/stderr
        TypesConfig /etc/mime.types
        DocumentRoot \"{tree}\"
        <Directory \"{tree}\">
            Options Indexes
            Require all granted
            IndexOptions FancyIndexing VersionSort HTMLTable NameWidth=* DescriptionWidth=* Charset=UTF-8
            IndexIgnore .??* *~ *# RCS CVS *,v *,t
        </Directory>\n"
    )
}

fn lighttpd(tree: &Path, port: u16) -> String {
    let tree = tree.display();
    format!(
        "server.document-root = \"{tree}\"
        server.bind = \"127.0.0.1\"
        server.port = {port}
        server.modules = ( \"mod_dirlisting\" )
        mimetype.assign = ( \".html\" => \"text/html\", \".txt\" => \"text/plain\", \
                            \".torrent\" => \"application/x-bittorrent\", \"\" => \"application/octet-stream\" )
        dir-listing.activate = \"enable\"
        dir-listing.encoding = \"utf-8\"\n"
    )
}
