# An entry in menus, which also opens recordings; what a desktop recognizes them by; the icon of both.
desktopdir = $(datadir)/applications
dist_desktop_DATA = %D%/nvmtop.desktop
icondir = $(datadir)/icons/hicolor/scalable/apps
dist_icon_DATA = %D%/nvmtop.svg
mimedir = $(datadir)/mime/packages
dist_mime_DATA = %D%/nvmtop.xml
metainfodir = $(datadir)/metainfo
dist_metainfo_DATA = %D%/nvmtop.metainfo.xml
