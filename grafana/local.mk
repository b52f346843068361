# A dashboard for the metrics of nvmtop serve, to be imported or provisioned.
grafanadir = $(pkgdatadir)/grafana
dist_grafana_DATA = %D%/nvmtop.json
